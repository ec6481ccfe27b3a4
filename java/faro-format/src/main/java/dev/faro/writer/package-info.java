/** Writes outputs (WRT). */
package dev.faro.writer;
