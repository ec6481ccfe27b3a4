/** Assigns keys to partitions (KEY). This is a convention for tools; files do not depend on it. */
package dev.faro.key;
