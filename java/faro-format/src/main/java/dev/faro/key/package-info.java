/** From keys to partitions (KEY): a convention for tools; the files do not depend on it. */
package dev.faro.key;
