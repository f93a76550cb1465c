/** Empties a table by dropping and creating it, which writes no row. Deleting its rows would write one for each. */
export function emptyTable(sql: SqlStorage, table: string, columns: string): void {
  try {
    sql.exec(`DROP TABLE ${table}`);
  } catch {
    // A statement that was not read to its end keeps the database from dropping a table.
    sql.exec(`DELETE FROM ${table}`);
    return;
  }
  sql.exec(`CREATE TABLE ${table} (${columns})`);
}
