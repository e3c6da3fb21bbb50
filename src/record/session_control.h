/* The commands of the control socket; see control.h and man/adaptrace-ctl.1. */
#ifndef RECORD_SESSION_CONTROL_H
#define RECORD_SESSION_CONTROL_H

struct session;

/* Serves the control socket. Call it when its descriptor is readable. */
void session_serve(struct session *session);

#endif
