/** Where a reader's bytes come from: what it asks of a storage, and storages that exist. */
package dev.faro.storage;
