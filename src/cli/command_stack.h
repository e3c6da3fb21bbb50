/* The stack that commands run on. */
#ifndef CLI_COMMAND_STACK_H
#define CLI_COMMAND_STACK_H

/*
 * Calls a command and returns what it does: on a stack of the usual size, however small the limit
 * is (ulimit -s) that we were started with and leave to our target. Names of C++ and debug
 * information are followed by recursion, which within that would be a signal instead of an error.
 */
int stack_call(int (*run)(int argc, char **argv), int argc, char **argv);

#endif
