/* The commands of muster: each is defined in its file, cmd_NAME.c, and has a row in main.c. With
 * what every command reads and prints. */
#pragma once

#include "command/command.h"
#include "command/options.h"
#include "command/output.h"

extern const struct command command_run, command_ps, command_status, command_logs, command_stop,
	command_delete, command_suspend, command_resume, command_scale, command_wait,
	command_render, command_help, command_version, command_compat, command_completion,
	command_doctor, command_server, command_check, command_probe, command_cp, command_attach,
	command_fetch, command_tensorboard, command_port_forward, command_exec, command_operator,
	command_submit, command_stacks, command_orchestrator, command_launch, command_pod_server,
	command_serve, command_drain, command_explain;
/* For the shells (completions/). Each calls `muster completion words`, so that it knows the options
 * of the muster that it completes. */
extern const char bash_script[], fish_script[], zsh_script[];
