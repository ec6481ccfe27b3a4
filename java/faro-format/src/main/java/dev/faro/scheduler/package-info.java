/** Many consumers of the same files, served by few long reads in the order of the file (docs/scheduler.md). */
package dev.faro.scheduler;
