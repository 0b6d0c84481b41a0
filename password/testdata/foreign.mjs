// Prints the lines of foreign.tsv that JavaScript libraries make, with random salts:
// lucia 2.7.7 and 3.2.2, and @better-auth/utils 0.5.1, which better-auth 1.7.25 uses.
//
//     npm install lucia2@npm:lucia@2.7.7 lucia@3.2.2 @better-auth/utils@0.5.1 && node foreign.mjs
import { hashPassword } from "@better-auth/utils/password";
import { LegacyScrypt, Scrypt } from "lucia";
import { generateLuciaPasswordHash } from "lucia2/utils";

const word = "lètmein";
const composed = "ﬁve½①"; // NFKC writes it "five1⁄21"
const line = (...columns) => console.log(columns.join("\t"));

line("Better Auth", word, await hashPassword(word));
line("Better Auth, normalised", composed, await hashPassword(composed));
line("Lucia 3 Scrypt", word, await new Scrypt().hash(word));
line("Lucia 3 LegacyScrypt", word, await new LegacyScrypt().hash(word));
line("Lucia 2", word, await generateLuciaPasswordHash(word));
