/* Tells a service manager how we are: the protocol of sd_notify(3), a datagram to $NOTIFY_SOCKET.
 */
#pragma once

/* Sends "READY=1", "STATUS=…" and their like, lines separated by line feeds. Nothing happens when
 * nobody asked, or does not listen. Safe in a signal handler and beside other threads. */
void notify_send(const char *state);
