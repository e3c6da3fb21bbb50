/*
 * Names of functions where room is short. What tells C++ and Rust functions apart is at their ends,
 * behind the arguments of templates and the names around them:
 *
 *     std::map<int, std::pair<int, A> >::find(int const&)
 *     std::map<int, std::pair<…> >::find(int const&)
 *     std::map<int, std::pair<…> >::find(…)
 *     std::map<int, std::pair<…> >::find
 *     std::map<…>::find
 *     …map<…>::find
 *
 *     <alloc::vec::Vec<T> as core::ops::Drop>::drop
 *     <…Vec<T> as …Drop>::drop
 *     <…>::drop
 */
#ifndef OUTPUT_TEXT_SHORT_NAME_H
#define OUTPUT_TEXT_SHORT_NAME_H

/* In place, no more than is needed for so many columns; what is too long still is for text_put().
 */
void short_name(char *name, unsigned width);
/* The same, but that only arguments give way: all names stay, and what calls are of. */
void short_arguments(char *name, unsigned width);

#endif
