/** Reads outputs: partitions, ranges of them, records (OPN, PRT). */
package dev.faro.reader;
