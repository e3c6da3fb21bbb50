/* Sends a recorder one request and takes its answer. */
#ifndef CLI_CTL_EXCHANGE_H
#define CLI_CTL_EXCHANGE_H

#include "trace/live/control_packet.h"

#define EXCHANGE_TEXT 128

/*
 * 0 with an answer, which may be a refusal, or -errno: -ENOENT, -ECONNREFUSED: the recorder has
 * ended. Waits up to a second for one that has just begun.
 */
int exchange(const char *image_file, const struct control_request *request,
             struct control_answer *answer);
/* The same for a packet. */
int exchange_packet(const char *image_file, const char *packet, size_t size,
                    struct control_answer *answer);
/* Says in words why there is no answer. */
void exchange_explain(int err, char text[EXCHANGE_TEXT]);

#endif
