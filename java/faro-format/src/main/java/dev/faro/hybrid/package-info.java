/** Outputs that are read while they are written, from memory as long as it lasts (HYB). */
package dev.faro.hybrid;
