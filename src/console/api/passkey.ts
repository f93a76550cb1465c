/** The browser's side of a passkey. Whatever the browser or the person does instead is a refusal with a sentence. */
import { failed, ok, type Result } from '../../result.ts';
import type { Refusal } from './call.ts';

type Credential = Result<unknown, Refusal>;

export async function createPasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<Credential> {
  return attempt(() =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );
}

export async function usePasskey(options: PublicKeyCredentialRequestOptionsJSON): Promise<Credential> {
  return attempt(() =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
  );
}

/** Firefox and Safari know the JSON forms since 2024 and 2025. */
function isSupported(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseCreationOptionsFromJSON' in PublicKeyCredential;
}

async function attempt(ceremony: () => Promise<unknown>): Promise<Credential> {
  if (!isSupported()) return passkeyRefused('This browser does not know passkeys. Use a newer one, or a one-time link');
  try {
    const credential = await ceremony();
    return credential === null
      ? passkeyRefused('No passkey was chosen')
      : ok((credential as PublicKeyCredential).toJSON());
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'InvalidStateError') return passkeyRefused('This device has a passkey of yours already');
    if (name === 'SecurityError')
      return passkeyRefused('Passkeys do not work at this address. Open the address of the console');
    return passkeyRefused('No passkey was used: the question was cancelled, or waited too long');
  }
}

export function passkeyRefused(message: string): Credential {
  return failed({ status: 0, key: 'PASSKEY', message, details: [], requestId: null });
}
