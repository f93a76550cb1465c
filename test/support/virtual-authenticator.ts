/** Chromium's own authenticators, as devices that hold passkeys and say yes to every question. */
import type { Page } from 'playwright-core';

export interface Device {
  /** The page has it no longer. */
  unplug(): Promise<void>;
}

/** `internal` is part of the computer, `usb` is a key that somebody plugs in. */
export async function addDevice(page: Page, transport: 'internal' | 'usb' = 'internal'): Promise<Device> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    async unplug() {
      await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    },
  };
}
