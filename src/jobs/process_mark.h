/* Marks in the environment of every process of a job, which all its descendants inherit: by them
 * the processes of a job are found again, also after their supervisor died. */
#pragma once

#define ENVIRONMENT_JOB_MARK "MUSTER_JOB_UID" /* =UID */
#define ENVIRONMENT_ATTEMPT_MARK "MUSTER_ATTEMPT_ID" /* =UID/ROLE-INDEX.ATTEMPT */
