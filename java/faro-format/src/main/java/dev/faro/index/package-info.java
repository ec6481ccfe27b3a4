/** What an index says: regions, the footer, its statistics. */
package dev.faro.index;
