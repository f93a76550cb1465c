/** What the page of a browser must look like, by the browser that its user agent names. */
import type { PageSystem, Renderer, ScriptEngine } from '../../contract/edge/page-report-names.ts';
import { claimedBrowser, type Engine } from '../headers/claimed-browser.ts';

export interface ClaimedEnvironment {
  /** `null`: a browser that is not known here, of which nothing is expected. */
  engine: Engine | null;
  scriptEngine: ScriptEngine | null;
  /** Major version of Chromium or Firefox; 0 for others. */
  major: number;
  system: PageSystem | null;
  /** With a mouse and a window. */
  isDesktop: boolean;
}

const scriptEngines: Readonly<Record<Engine, ScriptEngine>> = { chromium: 'v8', firefox: 'gecko', safari: 'jsc' };

export function claimedEnvironment(userAgent: string): ClaimedEnvironment {
  const { engine, chromium } = claimedBrowser(userAgent);
  // The last Edge with an engine of its own called itself Chrome.
  const known = /\bEdge\/\d/.test(userAgent) ? null : engine;
  const firefox = known === 'firefox' ? Number(/Firefox\/(\d{1,4})/.exec(userAgent)?.[1]) : 0;
  return {
    engine: known,
    scriptEngine: known && scriptEngines[known],
    major: chromium || firefox,
    system: systemOf(userAgent),
    isDesktop: !/Android|Mobile|iPad|Tablet/.test(userAgent),
  };
}

function systemOf(userAgent: string): PageSystem | null {
  if (/Windows NT/.test(userAgent)) return 'windows';
  if (/Macintosh|iPhone|iPad|iPod/.test(userAgent)) return 'apple';
  return /Linux|Android|CrOS|X11/.test(userAgent) ? 'linux' : null;
}

/** What never draws for this browser on this system. A driver of another system's graphics gives the system away. */
export function cannotDraw({ engine, system }: ClaimedEnvironment, renderer: Renderer): boolean {
  if (engine === null || system === null) return false;
  if (renderer === 'direct3d') return system !== 'windows';
  if (renderer === 'metal') return system !== 'apple';
  if (renderer === 'vulkan') return system !== 'linux';
  // Chromium on Windows draws by Direct3D, even where there is no graphics card.
  if (renderer === 'opengl' || renderer === 'llvmpipe') return engine === 'chromium' && system === 'windows';
  return false;
}
