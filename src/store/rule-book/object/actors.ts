/** Who wrote a version. API key ids are long and repeat, so rows hold the number of a name. */

export function actorNumber(sql: SqlStorage, name: string): number {
  sql.exec('INSERT INTO actors (name) VALUES (?) ON CONFLICT DO NOTHING', name);
  return sql.exec<{ actor: number }>('SELECT actor FROM actors WHERE name = ?', name).one().actor;
}
