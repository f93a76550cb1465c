/**
 * Shows a page as on a phone, as the device mode of the developer tools does. It speaks only the part of the debugging
 * protocol that changes sizes and touches: a driver would also listen to the page's scripts, which no phone does.
 */
import * as z from 'zod/mini';
import { untilStarted } from './browser-process.ts';

const targets = z.array(z.object({ type: z.string(), webSocketDebuggerUrl: z.string() }));
const PHONE_USER_AGENT =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/MAJOR.0.0.0 Mobile Safari/537.36';

export interface PhoneView {
  close(): void;
}

/** Opens `address` in the browser that listens on `port`. */
export async function showAsPhone(port: number, address: string): Promise<PhoneView> {
  const origin = `http://127.0.0.1:${port}`;
  const list = () =>
    fetch(`${origin}/json/list`).then(
      (response) => response.json(),
      () => null,
    );
  const page = await untilStarted(async () => {
    const known = targets.safeParse(await list());
    return known.success ? (known.data.find(({ type }) => type === 'page') ?? null) : null;
  });
  const { Browser } = z.parse(z.object({ Browser: z.string() }), await (await fetch(`${origin}/json/version`)).json());
  const major = /\/(\d+)/.exec(Browser)?.[1] ?? '';
  const socket = new WebSocket(page.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  for (const [index, [method, params]] of commands(major, address).entries()) {
    socket.send(JSON.stringify({ id: index + 1, method, params }));
  }
  return socket;
}

function commands(major: string, address: string): [string, object][] {
  const metadata = {
    brands: ['Chromium', 'Google Chrome'].map((brand) => ({ brand, version: major })),
    fullVersionList: ['Chromium', 'Google Chrome'].map((brand) => ({ brand, version: `${major}.0.0.0` })),
    platform: 'Android',
    platformVersion: '10',
    architecture: '',
    model: 'K',
    mobile: true,
  };
  return [
    [
      'Emulation.setUserAgentOverride',
      { userAgent: PHONE_USER_AGENT.replace('MAJOR', major), platform: 'Linux armv81', userAgentMetadata: metadata },
    ],
    [
      'Emulation.setDeviceMetricsOverride',
      { width: 412, height: 600, deviceScaleFactor: 0, mobile: true, screenWidth: 412, screenHeight: 870 },
    ],
    ['Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 5 }],
    ['Emulation.setEmitTouchEventsForMouse', { enabled: true, configuration: 'mobile' }],
    ['Page.navigate', { url: address }],
  ];
}
