/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encrypts folders by the kernel's fscrypt, and tells where the data of an encrypted file lie.
 *
 *   fscrypt_file add MOUNT KEY            adds a master key (a file of 64 bytes); prints its identifier
 *   fscrypt_file set FOLDER IDENTIFIER [lblk64]
 *                                         sets the policy of an empty folder: AES-256-XTS
 *   fscrypt_file remove MOUNT IDENTIFIER  removes a master key
 *   fscrypt_file show FILE...             prints name, inode, nonce, bytes and extents of each file,
 *                                         an extent as offset:place:bytes
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_BYTES = 64, EXTENTS = 64 };

static int fail(const char *what, const char *name)
{
    fprintf(stderr, "fscrypt_file: %s %s: %s\n", what, name, strerror(errno));
    return 1;
}

static void print_hex(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%02x", bytes[i]);
}

static int read_identifier(const char *text, unsigned char *out)
{
    for (size_t i = 0; i < FSCRYPT_KEY_IDENTIFIER_SIZE; i++)
        if (sscanf(text + 2 * i, "%2hhx", &out[i]) != 1)
            return -1;
    return 0;
}

static int add(int folder, char **argv)
{
    struct {
        struct fscrypt_add_key_arg head;
        unsigned char raw[KEY_BYTES];
    } key = {.head = {.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER, .raw_size = KEY_BYTES}};
    int file = open(argv[3], O_RDONLY);
    if (file < 0 || read(file, key.raw, KEY_BYTES) != KEY_BYTES)
        return fail("reading", argv[3]);
    if (ioctl(folder, FS_IOC_ADD_ENCRYPTION_KEY, &key))
        return fail("adding a key to", argv[2]);
    print_hex(key.head.key_spec.u.identifier, FSCRYPT_KEY_IDENTIFIER_SIZE);
    puts("");
    return 0;
}

static int set(int folder, char **argv)
{
    struct fscrypt_policy_v2 policy = {
        .version = FSCRYPT_POLICY_V2,
        .contents_encryption_mode = FSCRYPT_MODE_AES_256_XTS,
        .filenames_encryption_mode = FSCRYPT_MODE_AES_256_CTS,
        .flags = FSCRYPT_POLICY_FLAGS_PAD_32 | (argv[4] ? FSCRYPT_POLICY_FLAG_IV_INO_LBLK_64 : 0),
    };
    if (read_identifier(argv[3], policy.master_key_identifier))
        return fail("identifier", argv[3]);
    if (ioctl(folder, FS_IOC_SET_ENCRYPTION_POLICY, &policy))
        return fail("encrypting", argv[2]);
    return 0;
}

static int drop(int folder, char **argv)
{
    struct fscrypt_remove_key_arg key = {.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER};
    if (read_identifier(argv[3], key.key_spec.u.identifier))
        return fail("identifier", argv[3]);
    if (ioctl(folder, FS_IOC_REMOVE_ENCRYPTION_KEY, &key))
        return fail("removing a key from", argv[2]);
    return 0;
}

static int show(const char *name)
{
    struct {
        struct fiemap head;
        struct fiemap_extent extents[EXTENTS];
    } map = {.head = {.fm_length = FIEMAP_MAX_OFFSET,
                      .fm_flags = FIEMAP_FLAG_SYNC,
                      .fm_extent_count = EXTENTS}};
    unsigned char nonce[16];
    struct stat status;
    int file = open(name, O_RDONLY);
    if (file < 0 || fstat(file, &status))
        return fail("opening", name);
    if (ioctl(file, FS_IOC_GET_ENCRYPTION_NONCE, nonce))
        return fail("nonce of", name);
    if (ioctl(file, FS_IOC_FIEMAP, &map))
        return fail("extents of", name);
    printf("file %s %lu ", name, (unsigned long)status.st_ino);
    print_hex(nonce, sizeof nonce);
    printf(" %llu", (unsigned long long)status.st_size);
    for (unsigned i = 0; i < map.head.fm_mapped_extents; i++) {
        const struct fiemap_extent *each = &map.extents[i];
        printf(" %llu:%llu:%llu", (unsigned long long)each->fe_logical,
               (unsigned long long)each->fe_physical, (unsigned long long)each->fe_length);
    }
    puts("");
    close(file);
    return 0;
}

int main(int argc, char **argv)
{
    int (*command)(int, char **) = NULL;
    int found = 0;
    if (argc >= 3 && !strcmp(argv[1], "show")) {
        for (int i = 2; i < argc && !found; i++)
            found = show(argv[i]);
        return found;
    }
    if (argc == 4 && !strcmp(argv[1], "add"))
        command = add;
    else if ((argc == 4 || argc == 5) && !strcmp(argv[1], "set"))
        command = set;
    else if (argc == 4 && !strcmp(argv[1], "remove"))
        command = drop;
    if (!command) {
        fprintf(stderr, "usage: fscrypt_file add|set|remove|show ...\n");
        return 2;
    }
    int folder = open(argv[2], O_RDONLY | O_DIRECTORY);
    if (folder < 0)
        return fail("opening", argv[2]);
    return command(folder, argv);
}
