/** A display that is seen over the network, as on a remote desktop: TigerVNC with a window manager, and a viewer's server. */
import { existsSync } from 'node:fs';
import { spawnBrowser } from './browser-process.ts';
import { pause } from './hand.ts';

const SERVER = '/usr/bin/Xtigervnc';
/** Recorders that share the work on one machine need a display each. */
const DISPLAY = `:${80 + Math.floor(Math.random() * 100)}`;
const STARTS_MS = 2500;

export const hasRemoteDisplay = existsSync(SERVER);

/** Runs `visit` with `DISPLAY` of the environment set to the remote one. */
export async function onRemoteDisplay(visit: () => Promise<void>): Promise<void> {
  const before = process.env['DISPLAY'];
  process.env['DISPLAY'] = DISPLAY;
  const started = [
    spawnBrowser(SERVER, [DISPLAY, '-geometry', '1440x900', '-SecurityTypes', 'None', '-localhost'], {}),
  ];
  try {
    await pause(STARTS_MS);
    started.push(spawnBrowser('/usr/bin/openbox', [], {}));
    await pause(STARTS_MS / 2);
    await visit();
  } finally {
    process.env['DISPLAY'] = before;
    for (const child of started.toReversed()) child.kill('SIGTERM');
  }
}
