/**
 * The Faro format for shuffle data in Java. This package has the types that all other packages use: errors, limits,
 * headers. {@link dev.faro.writer.Writer} writes an output, {@link dev.faro.reader.Reader} reads a finished one, and
 * {@link dev.faro.follow.Follower} reads one that is still being written.
 *
 * <p>An argument may be null only where its documentation says so, or where null is the default of an option. Calls
 * that keep an argument or use it later check it first: they throw a {@link NullPointerException} with the argument's
 * name as its message, and have changed nothing. Options of a writer, and the codec of a stored block, are refused with
 * {@code invalid-argument} instead, as other values out of range are.
 *
 * <p>The packages below {@code dev.faro.internal} are not for callers: the module does not export them, and they may
 * change at any time. Clause names such as BLK-7 refer to the specification in the folder {@code spec}.
 */
package dev.faro;
