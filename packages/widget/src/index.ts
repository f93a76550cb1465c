/** The widget's script comes from the service, so that a page always runs the version its service understands. */

/** Where a service has the script. `serviceUrl` may end with a path, such as `/__protect` behind the gate. */
export function scriptUrl(serviceUrl: string): string {
  return `${serviceUrl.replace(/\/+$/, '')}/widget.js`;
}
