/*
 * Shortens names of functions where room is short. C++ and Rust functions differ at the ends of
 * their names, so the arguments of templates and the enclosing names are cut first:
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

/*
 * Shortens a name in place, by no more than needed for `width` columns. A name that is still too
 * long has to be cut by text_put().
 */
void short_name(char *name, unsigned width);
/*
 * Shortens only the arguments in a name. All names of functions and of the types around them stay.
 */
void short_arguments(char *name, unsigned width);

#endif
