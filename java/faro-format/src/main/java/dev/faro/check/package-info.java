/** Checks a whole output (CHK). */
package dev.faro.check;
