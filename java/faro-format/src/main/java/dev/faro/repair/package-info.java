/** Finishes, rebuilds, recovers and cleans what a writer left that did not finish (REP, PUB-7 to PUB-9). */
package dev.faro.repair;
