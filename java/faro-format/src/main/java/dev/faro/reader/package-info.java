/** Reads outputs: partitions, ranges of them, and records (OPN, PRT). */
package dev.faro.reader;
