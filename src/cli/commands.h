/*
 * The commands: one line each. argv[0] is the command's own name; the result is the exit status:
 * 0, 1 for a failure that has been told on stderr, 2 for wrong usage.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_list(int argc, char **argv);

#endif
