/** Compression of payloads (COD, DIC). Programs that pass stored blocks on without decoding them use it directly. */
package dev.faro.codec;
