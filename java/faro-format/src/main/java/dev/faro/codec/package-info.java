/** Compression of payloads, also for programs that hand over or take stored blocks (COD, DIC). */
package dev.faro.codec;
