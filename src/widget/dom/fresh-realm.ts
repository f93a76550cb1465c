/**
 * The built-in objects of an empty frame of the page's own: what scripts replaced in the page is usually original there.
 * A frame without an address needs no permission of the page's CSP. `null` where the page has no place for one.
 */
export type Realm = Window & typeof globalThis;

export function inFreshRealm<Seen>(look: (realm: Realm) => Seen): Seen | null {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  try {
    document.documentElement.append(frame);
    const realm = frame.contentWindow as Realm | null;
    return realm === null ? null : look(realm);
  } catch {
    return null;
  } finally {
    frame.remove();
  }
}
