/**
 * Repairs, rebuilds and recovers the output of a writer that did not finish, and removes the rest (REP, PUB-7 to
 * PUB-9).
 */
package dev.faro.repair;
