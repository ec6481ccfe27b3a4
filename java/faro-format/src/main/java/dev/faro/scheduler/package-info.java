/** Serves many consumers of the same files with few, long reads in the order of the file (docs/scheduler.md). */
package dev.faro.scheduler;
