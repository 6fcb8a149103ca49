// Writes JSON with two spaces of indentation; arrays of numbers stay on one line.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace validation
{

class JsonWriter
{
  public:
    explicit JsonWriter(std::ostream& output);

    // Inside an object every value needs a key; in an array and at the top it has none.
    void BeginObject(const std::string& key = "");
    void EndObject();
    void BeginArray(const std::string& key);
    void EndArray();
    void Text(const std::string& key, const std::string& value);
    void Number(const std::string& key, double value);
    void Truth(const std::string& key, bool value);
    void Numbers(const std::string& key, const std::vector<double>& values);

  private:
    void BeginValue(const std::string& key);
    void Open(const std::string& key, char bracket);
    void Close(char bracket);

    std::ostream& m_output;
    // One entry per open object or array: whether it holds a value already.
    std::vector<bool> m_holdsValue;
};

} // namespace validation
