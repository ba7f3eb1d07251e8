/* The functions that collect parts of the facts. Used by doctor_collect. */
#pragma once

#include "doctor/doctor.h"

void doctor_collect_software(struct doctor_facts *facts, struct arena *arena);
void doctor_collect_network(struct doctor_network *network, struct arena *arena);
void doctor_collect_limits(struct doctor_limits *limits, struct arena *arena);
void doctor_collect_state_folder(struct doctor_state_folder *folder, const char *path,
				 struct arena *arena);
void doctor_collect_kubernetes(struct doctor_kubernetes *kubernetes, struct arena *arena);
void doctor_collect_gpu(struct doctor_gpu *gpu, const char *state_folder, struct arena *arena);
