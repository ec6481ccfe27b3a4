/**
 * The Faro format for shuffle data in Java. Here: the words that all layers share. The layers, each using only those
 * before it: {@code file}, {@code header}, {@code block}, {@code codec} (the bytes); {@code message}; {@code index};
 * {@code sortbuffer}, {@code writer}, {@code reader}; {@code repair}. {@code key} stands by itself.
 *
 * <p>Clauses such as BLK-7 are those of the specification in the folder {@code spec}.
 */
package dev.faro;
