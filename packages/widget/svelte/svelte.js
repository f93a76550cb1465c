/** The Svelte component as source, because its compiled form belongs to the Svelte version of the application. */
export { default as Gatehouse } from './Gatehouse.svelte';
