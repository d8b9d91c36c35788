import { annotations } from './classes/annotations.ts';
import { framing } from './classes/framing.ts';
import { heads } from './classes/heads.ts';
import { jsonShape } from './classes/json-shape.ts';
import { jsonSyntax } from './classes/json-syntax.ts';
import { objectsOfOurs } from './classes/objects-of-ours.ts';
import { pods } from './classes/pods.ts';
import { reviewMembers } from './classes/review-members.ts';
import { transport } from './classes/transport.ts';

const ofBodies = [...jsonSyntax, ...jsonShape, ...reviewMembers, ...pods, ...annotations, ...objectsOfOurs];
export const hostileClasses = [...ofBodies, ...heads, ...framing, ...transport];
