/* Marks in the environment of every process of a job, which all its descendants inherit. The
 * processes of a job are found by them, also after its supervisor was killed. */
#pragma once

#define ENVIRONMENT_JOB_MARK "MUSTER_JOB_UID" /* =UID */
#define ENVIRONMENT_ATTEMPT_MARK "MUSTER_ATTEMPT_ID" /* =UID/ROLE-INDEX.ATTEMPT */
