/* The commands of the control socket; see control.h and man/adaptrace-ctl.1. */
#ifndef RECORD_SESSION_CONTROL_H
#define RECORD_SESSION_CONTROL_H

struct session;

/* Serves the control socket. Call it when its descriptor is readable. */
void session_serve(struct session *session);

/*
 * Resumes, or pauses in the same way as before, when the time is over that the last of these
 * commands was given, and notes that in the trace. Call it when the timer of pauses expires.
 */
void session_expire_pause(struct session *session);

#endif
