/** Repairs, rebuilds and recovers unfinished outputs, and removes what is left of them (REP, PUB-7 to PUB-9). */
package dev.faro.repair;
