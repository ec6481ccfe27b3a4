/** Reads an output while it is written (FOL). */
package dev.faro.follow;
