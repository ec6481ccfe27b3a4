/** The contents of an index: regions, the footer, the statistics. */
package dev.faro.index;
