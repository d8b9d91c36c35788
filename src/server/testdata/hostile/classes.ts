import { jsonShape, jsonSyntax } from './json.ts';
import { annotations, pods } from './pods.ts';
import { framing, heads } from './requests.ts';
import { objectsOfOurs, reviewMembers } from './reviews.ts';
import { transport } from './transport.ts';

const ofBodies = [...jsonSyntax, ...jsonShape, ...reviewMembers, ...pods, ...annotations, ...objectsOfOurs];
export const hostileClasses = [...ofBodies, ...heads, ...framing, ...transport];
