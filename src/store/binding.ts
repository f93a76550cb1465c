/**
 * What the D1 modules need from their environment. It is small so that the service Worker can pass its whole env, and
 * the CLI and the local stack can pass a D1 binding that they opened in Node.
 */
import type { D1Database } from '@cloudflare/workers-types';

export interface StoreEnv {
  DB: D1Database;
  /** 32 random bytes, base64url. */
  MASTER_KEY: string;
  /** The key before `MASTER_KEY`, while it is being rotated. */
  MASTER_KEY_PREVIOUS?: string;
}
