/** Plans which reads serve which extents, without threads and files. */
package dev.faro.plan;
