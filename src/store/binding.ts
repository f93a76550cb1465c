/**
 * What the D1 modules need of their surroundings. Narrow on purpose: the service Worker passes its
 * whole env, the CLI and the local stack pass a D1 binding they opened in Node.
 */
import type { D1Database } from '@cloudflare/workers-types';

export interface StoreEnv {
  DB: D1Database;
  /** 32 random bytes, base64url. */
  MASTER_KEY: string;
  /** The former one, while `MASTER_KEY` is being exchanged. */
  MASTER_KEY_PREVIOUS?: string;
}
