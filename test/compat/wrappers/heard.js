/** What the page hears of its captcha, for the test to read. */
export const { siteKey, serviceUrl } = globalThis.shop;

const heard = (globalThis.heard = []);
export const hear = (event) => (value) => void heard.push([event, value ?? null]);
/** The wrapper's handle, which the test calls. */
export const expose = (handle) => void (globalThis.captcha = handle);
