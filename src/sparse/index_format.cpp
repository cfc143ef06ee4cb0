#include "braid/sparse/index_format.hpp"

#include "braid/store/bytes.hpp"

namespace braid::sparse {
namespace {

constexpr std::uint32_t kMagic = 0x31505342;  // "BSP1"
constexpr std::uint32_t kOldestVersion = 2;

Result<> validate_header(const IndexHeader& header) {
    if (header.rows > kMaxRows) return corrupt_index("too many rows");
    if (header.fields == 0 || header.fields > kMaxFields) {
        return corrupt_index(std::to_string(header.fields) + " text fields");
    }
    if (header.main_field >= header.fields) return corrupt_index("the main field does not exist");
    if (header.columns > header.terms) return corrupt_index("more columns than terms");
    if (header.labels > header.rows) return corrupt_index("more labels than rows");
    if (header.label_width != 0 && !is_width(header.label_width)) {
        return corrupt_index("bad width of labels");
    }
    if (header.offset_width != 4 && header.offset_width != 8) {
        return corrupt_index("bad width of offsets");
    }
    for (std::size_t field = 0; field < header.fields; ++field) {
        if (!is_width(header.length_widths[field])) return corrupt_index("bad width of lengths");
    }
    return {};
}

}  // namespace

std::uint64_t IndexHeader::lengths_offset(std::size_t field) const noexcept {
    std::uint64_t offset = 0;
    for (std::size_t f = 0; f < field; ++f) {
        offset += (static_cast<std::uint64_t>(rows) * length_widths[f] + 63) / 64 * 64;
    }
    return offset;
}

Bytes encode_header(const IndexHeader& header) {
    Bytes out;
    for (const std::uint32_t value :
         {kMagic, header.version, header.rows, header.fields, header.terms, header.labels,
          header.columns, header.main_field, header.label_width, header.offset_width}) {
        put(out, value);
    }
    for (const std::uint32_t width : header.length_widths) put(out, width);
    for (const std::uint64_t total : header.total_lengths) put(out, total);
    put(out, header.postings);
    for (const std::uint32_t first : header.classes.first) put(out, first);
    for (const auto& fields : header.classes.smallest) {
        for (const std::uint32_t length : fields) put(out, length);
    }
    return out;
}

Result<IndexHeader> decode_header(std::span<const std::byte> bytes) {
    store::ByteReader in(bytes, kHeaderSection);
    BRAID_TRY(const std::uint32_t magic, in.u32("magic"));
    if (magic != kMagic) return corrupt_index("this is not the header of a sparse index");
    BRAID_TRY(const std::uint32_t version, in.u32("version"));
    if (version < kOldestVersion || version > kListsVersion) {
        return fail(ErrorCode::Unsupported, "sparse index: format version " +
                                                std::to_string(version) +
                                                " is not supported by this braid");
    }
    IndexHeader header;
    header.version = version;
    for (std::uint32_t* value :
         {&header.rows, &header.fields, &header.terms, &header.labels, &header.columns,
          &header.main_field, &header.label_width, &header.offset_width}) {
        BRAID_TRY(*value, in.u32("count"));
    }
    for (std::uint32_t& width : header.length_widths) {
        BRAID_TRY(width, in.u32("width"));
    }
    for (std::uint64_t& total : header.total_lengths) {
        BRAID_TRY(total, in.u64("total length"));
    }
    BRAID_TRY(header.postings, in.u64("postings"));
    for (std::uint32_t& first : header.classes.first) {
        BRAID_TRY(first, in.u32("length class"));
    }
    for (auto& fields : header.classes.smallest) {
        for (std::uint32_t& length : fields) {
            BRAID_TRY(length, in.u32("smallest length"));
        }
    }
    BRAID_CHECK(in.expect_end("the header"));
    BRAID_CHECK(validate_header(header));
    return header;
}

void put_list_header(Bytes& out, const ListHeader& header) {
    put(out, static_cast<std::uint8_t>(header.form));
    put(out, header.fields);
    put(out, header.count_width);
    put(out, header.entry_width);
    put(out, header.max_tf);
    put(out, header.label_bytes);
    out.insert(out.end(), header.classes.begin(), header.classes.end());
    out.push_back(0);
}

ListHeader load_list_header(const std::uint8_t* at) noexcept {
    ListHeader header;
    header.form = static_cast<ListForm>(at[0]);
    header.fields = at[1];
    header.count_width = at[2];
    header.entry_width = at[3];
    header.max_tf = load<std::uint32_t>(at + 4);
    header.label_bytes = load<std::uint32_t>(at + 8);
    std::copy_n(at + 12, header.classes.size(), header.classes.begin());
    return header;
}

void put_narrow(Bytes& out, std::uint32_t width, std::uint32_t value) {
    if (width == 1) return put(out, static_cast<std::uint8_t>(value));
    if (width == 2) return put(out, static_cast<std::uint16_t>(value));
    put(out, value);
}

}  // namespace braid::sparse
