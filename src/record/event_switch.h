/*
 * Other events while a recording runs. An event that was switched off stays open, so that it can
 * be switched on again at once; its kind in buffer and trace stays as well. The trace has a gap for
 * the time in which an event did not sample, from the start for one that was added later.
 */
#ifndef RECORD_EVENT_SWITCH_H
#define RECORD_EVENT_SWITCH_H

#include "record/steer/control.h"
#include "trace/live/control_packet.h"

struct session;

/*
 * Switches events on and off, by their names as in -e, parted by commas. If it is refused all
 * events sample as before. Where events are inherited, one that is not open yet is opened for each
 * thread if the request wants it anyway, while the target stands still; asker: a process that does
 * not stand still.
 */
struct refusal event_switch(struct session *session, const struct control_request *request,
                            pid_t asker);

#endif
