/** The contents of an index: regions, the footer, its statistics and streams. */
package dev.faro.index;
