/**
 * R2 objects to delete. An object is marked in the transaction that stops naming it and deleted afterwards, so that a
 * crash between the two leaves no object behind.
 */

/** R2 deletes this many keys in one call. */
const OBJECTS_PER_DELETE = 1000;

export function doom(sql: SqlStorage, object: string): void {
  sql.exec('INSERT INTO doomed_objects (object) VALUES (?) ON CONFLICT DO NOTHING', object);
}

export async function deleteDoomed(sql: SqlStorage, bucket: R2Bucket): Promise<void> {
  for (;;) {
    const doomed = sql
      .exec<{ object: string }>('SELECT object FROM doomed_objects LIMIT ?', OBJECTS_PER_DELETE)
      .toArray();
    if (doomed.length === 0) return;
    await bucket.delete(doomed.map(({ object }) => object));
    for (const { object } of doomed) sql.exec('DELETE FROM doomed_objects WHERE object = ?', object);
  }
}
