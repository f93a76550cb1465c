/**
 * The Chromium of an npm package, unpacked once per version beside the other packages. The package itself unpacks to a
 * fixed name in the temporary directory and uses whatever is there: an incomplete file of another process, or a file of
 * another user. Here the directory gets its name only when it is complete.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium, { inflate } from '@sparticuz/chromium';

const packageDir = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '..');
/** The system's list of fonts. A machine without the file has no fonts. */
const SYSTEM_FONTS = '/etc/fonts/fonts.conf';

export interface CarriedChromium {
  executablePath: string;
  /** For a machine with the libraries that Chromium needs. */
  env: Record<string, string>;
  /** For a minimal machine without libnss3 and the like. The package has them for another platform. */
  envWithLibraries: Record<string, string>;
}

export async function carriedChromium(): Promise<CarriedChromium> {
  const { version } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  const cache = join(packageDir, '..', '..', '.cache');
  const dir = join(cache, `chromium-${version}`);
  if (!existsSync(dir)) await unpack(cache, dir);
  const env = { ...(process.env as Record<string, string>) };
  if (!existsSync(SYSTEM_FONTS)) env['FONTCONFIG_FILE'] = join(dir, 'fonts.conf');
  const libraries = [join(dir, 'al2023', 'lib'), env['LD_LIBRARY_PATH']].filter(Boolean).join(delimiter);
  return {
    executablePath: join(dir, 'chromium'),
    env,
    envWithLibraries: { ...env, LD_LIBRARY_PATH: libraries },
  };
}

async function unpack(cache: string, dir: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(join(cache, 'chromium-partial-'));
  try {
    await inTemporaryDirectory(partial, () =>
      Promise.all([chromium.executablePath(), inflate(join(packageDir, 'bin', 'al2023.tar.br'))]),
    );
    const fonts = `<dir>${join(dir, 'fonts')}</dir><cachedir>${join(dir, 'fonts-cache')}</cachedir>`;
    writeFileSync(join(partial, 'fonts.conf'), `<?xml version="1.0"?><fontconfig>${fonts}</fontconfig>\n`);
    renameSync(partial, dir);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    // Another process was faster, and its directory is the same.
    if (!existsSync(dir)) throw error;
  }
}

/** The package reads the temporary directory before its first await. */
async function inTemporaryDirectory<Value>(dir: string, work: () => Promise<Value>): Promise<Value> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = dir;
  const done = work();
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  return done;
}
